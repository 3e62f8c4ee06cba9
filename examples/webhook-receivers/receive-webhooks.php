<?php
// WEBHOOK_SECRET=whsec_... php -S 127.0.0.1:4000 receive-webhooks.php
declare(strict_types=1);

const TOLERANCE_SECONDS = 5 * 60;
const MAX_BYTES = 1024 * 1024;

// X-Webhook-Signature and, for 24 hours after a rotation, X-Webhook-Signature-Previous with the old secret.
function is_signed(string $secret, string $body): bool
{
    $expected = hash_hmac('sha256', $body, $secret);
    $given = [$_SERVER['HTTP_X_WEBHOOK_SIGNATURE'] ?? '', $_SERVER['HTTP_X_WEBHOOK_SIGNATURE_PREVIOUS'] ?? ''];
    return hash_equals($expected, $given[0]) || hash_equals($expected, $given[1]);
}

// Standard Webhooks: signs id, time and body. The key is the base64-decoded part of the secret after whsec_.
function is_signed_by_standard(string $secret, string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $time = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($time) || abs(time() - (int) $time) > TOLERANCE_SECONDS) {
        return false;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

// Whether a message is new. In production, use a database table.
function is_new(string $id): bool
{
    $path = sys_get_temp_dir() . '/webhook-' . hash('sha256', $id);
    return @fopen($path, 'x') !== false;
}

$secret = (string) getenv('WEBHOOK_SECRET');
if (!str_starts_with($secret, 'whsec_')) {
    error_log('Set WEBHOOK_SECRET to the secret of the webhook: it begins with whsec_');
    http_response_code(500);
    exit;
}
$body = (string) file_get_contents('php://input', length: MAX_BYTES + 1);
if (strlen($body) > MAX_BYTES) {
    http_response_code(413);
    exit;
}
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$is_valid = $path === '/standard' ? is_signed_by_standard($secret, $body) : is_signed($secret, $body);
if (!$is_valid) {
    http_response_code(401);
    exit;
}
// In production, write the message to a queue: after a 2xx response it is not sent again.
http_response_code(204);
if (is_new($_SERVER['HTTP_WEBHOOK_ID'] ?? '')) {
    $message = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    error_log("{$message['event']} {$message['timestamp']} " . json_encode($message['data']));
}
