"""One process of a client on the kit for Python. It pulls events. test/support/clients/pulls.ts says what it is asked and writes.
If STORE is an address of Postgres, the store is there. Otherwise STORE is the path of an SQLite file."""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from identity_client import Config, SqlStore, open_sqlite, pull_events

path = os.environ["STORE"]
if path.startswith("postgres"):
    import psycopg

    store = SqlStore(partial(psycopg.connect, path), "%s")
else:
    store = SqlStore(open_sqlite(path))
    store.create_tables()

config = Config(
    issuer=os.environ["ISSUER"],
    client="shop",
    secrets=[os.environ["SECRET"]],
    callback_url="http://localhost:4000/sso/callback",
    login_url="http://localhost:4000/login",
    nonces=store,
    end_session=lambda sid: None,
)


def write(line):
    with open(os.environ["LOG"], "a") as log:
        log.write(line + "\n")


def apply(event):
    write(f"begin {event.seq}")
    time.sleep(600 if str(event.seq) == os.environ.get("HANGS_AT") else 0.002)
    write(f"end {event.seq}")


def pull(_):
    return pull_events(config, positions=store, start_over=lambda: None, apply=apply)


print("ready", flush=True)
for line in sys.stdin:
    with ThreadPoolExecutor(int(line)) as pool:
        print(json.dumps(list(pool.map(pull, range(int(line))))), flush=True)
