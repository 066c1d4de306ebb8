<?php
// A billing system behind httpbackend, to copy from: docs/http-backend.md is the protocol.
//
//     DATABASE=billing.db PHP_CLI_SERVER_WORKERS=8 php -S 127.0.0.1:8080 remote.php
//
// or in PHP-FPM behind a web server, with TLS or on the machine of httpbackend: what
// it answers has passwords in it. It needs PHP 8 and its extension sqlite3. With the
// environment variable TOKEN it serves only those who know that.
declare(strict_types=1);

const MAX_BODY = 8 << 20; // octets

function database(): SQLite3
{
    $db = new SQLite3(getenv('DATABASE') ?: 'billing.db');
    $db->enableExceptions(true);
    $db->busyTimeout(5000);
    $db->exec('PRAGMA journal_mode=WAL');
    $db->exec('PRAGMA synchronous=FULL'); // what is committed outlives a power failure
    $db->exec(file_get_contents(__DIR__ . '/../schema.sql'));
    return $db;
}

/** One query for all, one answer for each, in their order. */
function authorize(SQLite3 $db, array $requests): array
{
    $names = array_values(array_unique(array_column($requests, 'user_name'), SORT_STRING));
    $marks = implode(',', array_fill(0, count($names), '?'));
    $query = $db->prepare("SELECT name, cleartext, hash, address, blocked FROM subscribers WHERE name IN ($marks)");
    foreach ($names as $i => $name) {
        $query->bindValue($i + 1, $name, SQLITE3_TEXT);
    }
    $known = [];
    for ($rows = $query->execute(); $row = $rows->fetchArray(SQLITE3_ASSOC);) {
        $known['=' . $row['name']] = $row; // with a letter in front, since PHP makes integers of keys like "7"
    }
    return ['answers' => array_map(fn($r) => answer($known['=' . $r['user_name']] ?? null), $requests)];
}

function answer(?array $row): array
{
    if ($row === null) {
        return ['reject' => 'unknown-user'];
    }
    $answer = ['reply' => [['Session-Timeout', 3600]]];
    if ($row['hash'] !== null) {
        $answer['hash'] = $row['hash'];
    } elseif ($row['cleartext'] !== null) {
        $answer['cleartext'] = $row['cleartext'];
    }
    if ($row['address'] !== null) {
        $answer['reply'][] = ['Framed-IP-Address', $row['address']];
    }
    if ($row['blocked']) {
        $answer['reject'] = 'blocked';
    }
    return $answer;
}

const RECORD = 'INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (unique_id) DO UPDATE SET
    start = min(start, excluded.start),
    stop = coalesce(min(stop, excluded.stop), stop, excluded.stop),
    session_time = max(session_time, excluded.session_time),
    input_octets = max(input_octets, excluded.input_octets),
    output_octets = max(output_octets, excluded.output_octets)';

/** One transaction for all; after it each is durable, or has its own error. */
function account(SQLite3 $db, array $records): array
{
    $db->exec('BEGIN IMMEDIATE');
    try {
        $results = array_map(fn($r) => keep($db, $r), $records);
        $db->exec('COMMIT');
        return ['results' => $results];
    } catch (Throwable $e) {
        $db->exec('ROLLBACK');
        throw $e;
    }
}

function keep(SQLite3 $db, array $r): array
{
    foreach (['input_octets', 'output_octets'] as $name) {
        // Strings, since they have 64 bits; an integer of PHP has 63.
        if ((string) (int) $r[$name] !== $r[$name]) {
            return ['refuse' => 'more octets than the database can count'];
        }
    }
    if (in_array($r['status'], ['Accounting-On', 'Accounting-Off'], true)) {
        run($db, 'INSERT OR IGNORE INTO restarts VALUES (?, ?)', [$r['nas'], $r['time']]);
    } elseif (in_array($r['status'], ['Start', 'Interim-Update', 'Stop'], true)) {
        run($db, RECORD, [
            $r['unique_id'], $r['session_id'], $r['user_name'], $r['nas'], $r['time'] - $r['session_time'],
            $r['status'] === 'Stop' ? $r['time'] : null, $r['session_time'], (int) $r['input_octets'], (int) $r['output_octets'],
        ]);
    }
    return ['ok' => true];
}

function run(SQLite3 $db, string $sql, array $values): void
{
    $statement = $db->prepare($sql);
    foreach ($values as $i => $value) {
        $statement->bindValue($i + 1, $value); // its type is the value's
    }
    $statement->execute();
}

function reply(int $status, array $content): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode((object) $content, JSON_THROW_ON_ERROR);
}

function serve(): void
{
    $token = getenv('TOKEN') ?: '';
    if ($token !== '' && !hash_equals("Bearer $token", $_SERVER['HTTP_AUTHORIZATION'] ?? '')) {
        reply(401, []);
        return;
    }
    if ((int) ($_SERVER['CONTENT_LENGTH'] ?? 0) > MAX_BODY) {
        reply(413, []);
        return;
    }
    try {
        $body = json_decode(file_get_contents('php://input'), true, 16, JSON_THROW_ON_ERROR);
        match ($_SERVER['REQUEST_METHOD'] . ' ' . $_SERVER['REQUEST_URI']) {
            'POST /authorize' => reply(200, authorize(database(), $body['requests'])),
            'POST /account' => reply(200, account(database(), $body['records'])),
            default => reply(404, []),
        };
    } catch (JsonException | TypeError $e) {
        error_log($e->getMessage());
        reply(400, []);
    } catch (Throwable $e) { // such as a database that is locked: it may go better later
        error_log($e->getMessage());
        header('Retry-After: 1');
        reply(503, []);
    }
}

serve();
