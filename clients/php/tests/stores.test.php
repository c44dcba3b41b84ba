<?php

declare(strict_types=1);

// Tests the stores: in memory, in SQLite, and in the databases that PDO_DSNS names (separated by spaces).

use Identity\{MemoryNonces, MemoryPosition, MemoryProfiles, PdoDatabase, SqlNonces, SqlPosition, SqlProfiles, Tables};

$stores = ['memory' => [new MemoryNonces(), new MemoryProfiles(), null]];
foreach (array_filter(['sqlite::memory:', ...explode(' ', (string) getenv('PDO_DSNS'))]) as $dsn) {
    $database = new PdoDatabase(new PDO($dsn));
    $prefix = 'kit_' . bin2hex(random_bytes(4)) . '_';
    Tables::create($database, $prefix);
    Tables::create($database, $prefix);
    $stores[$dsn] = [new SqlNonces($database, $prefix), new SqlProfiles($database, $prefix), [$database, $prefix]];
}

foreach ($stores as $kind => [$nonces, $profiles, $sql]) {
    test("$kind uses a nonce once, tells upper from lower case, and remembers ended logins", function () use ($nonces): void {
        $until = time() + 60;
        same([true, false, true], [$nonces->consume('aaaa', $until), $nonces->consume('aaaa', $until), $nonces->consume('aaaA', $until)]);
        same(false, $nonces->hasEnded('aaaa'));
        $nonces->addEnded('aaaa', $until);
        $nonces->addEnded('aaaa', $until);
        same([true, false], [$nonces->hasEnded('aaaa'), $nonces->hasEnded('aaaA')]);
    });

    test("$kind keeps the newest profile", function () use ($profiles): void {
        $id = profile()['id'];
        same(null, $profiles->find($id));
        $steps = [['2026-01-02T00:00:00.000Z', 'Ann', true], ['2026-01-01T00:00:00.000Z', 'Old', false],
            ['2026-01-02T00:00:00.000Z', 'Same', false], ['2026-01-02T00:00:00.001Z', 'Zoë 🌷', true]];
        foreach ($steps as [$updatedAt, $name, $isKept]) {
            same($isKept, $profiles->isNewer(readProfile($updatedAt, $name)), "$name is newer");
            same($isKept, $profiles->apply(readProfile($updatedAt, $name)), $name);
        }
        same(['Zoë 🌷', true], [$profiles->find($id)->name, $profiles->find($id)->can('sell_products')]);
        $profiles->remove($id);
        $profiles->remove($id);
        same(false, $profiles->isNewer(readProfile('2026-01-03T00:00:00.000Z', 'Late')));
        same([null, false, null], [$profiles->find($id), $profiles->apply(readProfile('2026-01-03T00:00:00.000Z', 'Late')), $profiles->find($id)]);
        $profiles->clear();
        same([true, 'Ann'], [$profiles->apply(readProfile('2026-01-01T00:00:00.000Z', 'Ann')), $profiles->find($id)->name]);
        $profiles->clear();
        same(null, $profiles->find($id));
    });

    if ($sql === null) {
        continue;
    }
    test("$kind forgets nonces ten minutes after their time", function () use ($nonces, $sql): void {
        $count = fn() => (int) $sql[0]->value("select count(*) from {$sql[1]}used where name like 'nonce s%'");
        same(true, $nonces->consume('s-past', time() - 660));
        same(true, $nonces->consume('s-kept', time() - 540));
        // One of the calls above may already have deleted old rows.
        $nonces->sweep();
        same(1, $count());
    });

    test("$kind gives the position to one process at a time", function () use ($sql): void {
        [$one, $other] = [new SqlPosition($sql[0], 'shop', $sql[1]), new SqlPosition($sql[0], 'shop', $sql[1])];
        same([0, null, null], [$one->claim(), $other->claim(), $one->claim()]);
        $one->advance(7);
        $other->release();
        same(null, $other->claim());
        $one->release();
        same(7, $other->claim());
        // A process that has not moved for a minute has lost the position.
        $sql[0]->execute("update {$sql[1]}positions set claimed_until = ?", [time() - 1]);
        same(7, $one->claim());
        try {
            $other->advance(3);
            throw new LogicException('advanced');
        } catch (RuntimeException) {
        }
        $one->release();
        same(0, (new SqlPosition($sql[0], 'other', $sql[1]))->claim());
    });

    test("$kind keeps profiles in ASCII, and one that cannot be read is a refusal of the store", function () use ($profiles, $sql): void {
        $id = profile()['id'];
        $profiles->apply(readProfile('2026-01-02T00:00:00.000Z', 'Zoë 🌷'));
        $kept = (string) $sql[0]->value("select profile from {$sql[1]}profiles where id = ?", [$id]);
        same([0, 'Zoë 🌷'], [preg_match('/[^ -~]/', $kept), $profiles->find($id)->name]);
        $stores = new Identity\Stores(new Identity\MemorySessions(), $profiles, new MemoryPosition());
        $site = new Site($stores);
        $site->logIn();
        foreach (['{"id":1}', '{', '[]'] as $unreadable) {
            $sql[0]->execute("update {$sql[1]}profiles set profile = ?", [$unreadable]);
            same('store_unavailable', refusalOf(fn() => $site->client->findPerson($id)));
            logOf(fn() => same(503, $site->client->requireLogin($site->request())->status));
        }
        $profiles->clear();
    });

    test("$kind leaves nothing behind", function () use ($sql): void {
        foreach (['used', 'profiles', 'positions'] as $table) {
            $sql[0]->execute("drop table {$sql[1]}$table");
        }
    });
}

test('a database that refuses a statement throws, whatever PDO does by itself', function (): void {
    $pdo = new PDO('sqlite::memory:', options: [PDO::ATTR_ERRMODE => PDO::ERRMODE_SILENT]);
    try {
        (new SqlNonces(new PdoDatabase($pdo)))->consume('a', 1);
        throw new LogicException('consumed');
    } catch (RuntimeException) {
    }
});

test('the position in memory is held by one at a time', function (): void {
    $position = new MemoryPosition(3);
    same([3, null], [$position->claim(), $position->claim()]);
    $position->advance(4);
    $position->release();
    same(4, $position->claim());
});

test('two clients with different prefixes share a database, and a prefix is a plain name', function (): void {
    $database = new PdoDatabase(new PDO('sqlite::memory:'));
    $open = fn(string $prefix) => Identity\Client::fromUrl('https://shop:' . SECRET . '@id.example.test', 'https://shop.example.test', $database, prefix: $prefix);
    foreach (['one_', 'two_'] as $prefix) {
        Tables::create($database, $prefix);
        same(true, $open($prefix)->applyProfile(readProfile('2026-01-01T00:00:00.000Z', $prefix)));
    }
    same('one_', $open('one_')->findPerson(profile()['id'])->name);
    foreach (['', 'One_', '1_', 'a-', "a\n", 'a; drop table x', str_repeat('a', 32)] as $wrong) {
        try {
            $open($wrong);
            throw new LogicException('taken');
        } catch (InvalidArgumentException $error) {
            same('prefix must be a plain name in lower case', $error->getMessage());
        }
    }
});

test('a used nonce of a client with a prefix is in its own table', function (): void {
    $database = new PdoDatabase(new PDO('sqlite::memory:'));
    Tables::create($database, 'one_');
    $client = Identity\Client::fromUrl('https://shop:' . SECRET . '@id.example.test', 'https://shop.example.test', $database, prefix: 'one_');
    $browser = new Browser();
    $query = seal(payload(['state' => $browser->start($client)['state'], 'iat' => time(), 'exp' => time() + 300]));
    same(303, $browser->call($client, $query, isLoggedIn: null)->status);
    same(1, (int) $database->value('select count(*) from one_used'));
});
