<?php

declare(strict_types=1);

namespace Identity;

/** Uses curl if it is there, otherwise PHP's own streams. */
final class SystemHttp implements Http
{
    public function __construct(private readonly int|float $timeoutSeconds = 30, private readonly bool $useCurl = true)
    {
    }

    /** Gives each request at most so much time. */
    public function within(float $seconds): self
    {
        return new self(max(0.001, min($seconds, $this->timeoutSeconds)), $this->useCurl);
    }

    public function get(string $url, array $headers): HttpAnswer
    {
        $lines = array_map(static fn(string $name, string $value) => "$name: $value", array_keys($headers), $headers);
        return $this->useCurl && function_exists('curl_init') ? $this->askCurl($url, $lines)
            : $this->askStream($url, $lines);
    }

    /** @param list<string> $headers */
    private function askCurl(string $url, array $headers): HttpAnswer
    {
        $curl = curl_init($url);
        curl_setopt_array($curl, [
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_TIMEOUT_MS => (int) ceil($this->timeoutSeconds * 1000),
            // Without this, curl can refuse to wait less than a second.
            CURLOPT_NOSIGNAL => true,
        ]);
        $body = curl_exec($curl);
        if (!is_string($body)) {
            throw new \RuntimeException('the identity service cannot be reached: ' . curl_error($curl));
        }
        return new HttpAnswer(curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $body);
    }

    /** @param list<string> $headers */
    private function askStream(string $url, array $headers): HttpAnswer
    {
        $context = stream_context_create(['http' => [
            'header' => [...$headers, 'Connection: close'],
            'protocol_version' => 1.1,
            'follow_location' => 0,
            'ignore_errors' => true,
            'timeout' => $this->timeoutSeconds,
        ]]);
        $stream = @fopen($url, 'r', false, $context);
        $body = $stream ? stream_get_contents($stream) : false;
        $meta = $stream ? stream_get_meta_data($stream) : [];
        if (!is_string($body) || ($meta['timed_out'] ?? false)) {
            throw new \RuntimeException('the identity service cannot be reached: '
                . (error_get_last()['message'] ?? 'no answer in time'));
        }
        preg_match('~^HTTP/\S+ (\d{3})~', $meta['wrapper_data'][0] ?? '', $found);
        return new HttpAnswer((int) ($found[1] ?? 0), $body);
    }
}
