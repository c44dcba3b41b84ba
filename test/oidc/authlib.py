"""A product on Flask and Authlib."""
import json
import os
from urllib.parse import urlencode

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session
from markupsafe import escape

issuer, origin = os.environ["ISSUER"], os.environ["ORIGIN"]
app = Flask(__name__)
app.secret_key = "a secret of this test"
oauth = OAuth(app)
oauth.register(
    "identity",
    server_metadata_url=f"{issuer}/.well-known/openid-configuration",
    client_id=os.environ["CLIENT"],
    client_secret=os.environ["SECRET"],
    client_kwargs={"scope": "openid profile email groups", "code_challenge_method": "S256"},
)


@app.get("/")
def home():
    if "who" not in session:
        return '<a href="/login">Log in</a>'
    return f'<pre id="who">{escape(json.dumps(session["who"]))}</pre><a href="/logout">Log out</a>'


@app.get("/login")
def login():
    return oauth.identity.authorize_redirect(f"{origin}/callback")


@app.get("/callback")
def callback():
    token = oauth.identity.authorize_access_token()
    # The claims that Authlib has read from the ID token, and those that it gets from userinfo.
    assert token["userinfo"]["groups"] == oauth.identity.userinfo(token=token)["groups"]
    session["who"] = oauth.identity.userinfo(token=token)
    session["hint"] = token["id_token"]
    return redirect("/")


@app.get("/logout")
def logout():
    session.pop("who")
    end = oauth.identity.load_server_metadata()["end_session_endpoint"]
    asked = {"id_token_hint": session.pop("hint"), "post_logout_redirect_uri": f"{origin}/"}
    return redirect(f"{end}?{urlencode(asked)}")


app.run("127.0.0.1", int(os.environ["PORT"]))
