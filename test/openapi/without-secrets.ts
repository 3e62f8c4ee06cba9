/** Replaces what is random or secret in a recorded call by text that is obviously an example. */

const PUBLIC_URL = 'https://lynxroom.example.com';

/** By the name of the field, for fields that a row lists as random. */
const examples: Record<string, string> = {
  name: 'amber-falcon',
  room_name: 'amber-falcon',
  ingest_url: `${PUBLIC_URL}/api/ingest/EXAMPLE_INGEST_ID`,
  archive_id: 'EXAMPLE_ARCHIVE_ID',
};

const secrets: readonly [RegExp, string][] = [
  [/\b(ln[a-z])_[\w-]{20,}/g, '$1_EXAMPLE_TOKEN'],
  [/\b(ref_\d+)_[\w-]{43}/g, '$1_EXAMPLE_REFERENCE'],
  [/\bmsg_019[0-9a-f]{29}\b/g, 'msg_019b76da9400704c93bd2d1f3c2a7a51'],
  [/\bwhsec_[A-Za-z0-9+/=]{20,}/g, 'whsec_EXAMPLE_SECRET'],
  [/\b(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}\b/g, 'K3WQ-7Z2M-PX4A-6TQB'],
  [/\b[A-Z2-7]{32}\b/g, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
  [/\/join\/[\w-]{16,}/g, '/join/EXAMPLE_INVITE_TOKEN'],
  // The address of the caller.
  [/\b127\.0\.0\.1\b/g, '203.0.113.7'],
  [/\/files\/[^"?]+\?[^"]+/g, '/files/EXAMPLE_SIGNED_PATH'],
];

export function withoutSecrets<Recorded>(
  recorded: Recorded,
  { url, random }: { url: string; random: readonly string[] },
): Recorded {
  let text = JSON.stringify(recorded, (name, value) => {
    if (typeof value !== 'string') return value;
    if (name === 'key_prefix') return 'lnx_EXAM';
    if (name === 'code' && /^[0-9]{6}$/.test(value)) return '492039';
    if (name === 'connectionId' && typeof value === 'string') return 'EXAMPLE_INGEST_ID';
    if (name === 'token' && /^[\w-]{16,}$/.test(value) && !value.startsWith('ln')) return 'EXAMPLE_INVITE_TOKEN';
    return random.includes(name) ? (examples[name] ?? value) : value;
  })
    .replaceAll(url, PUBLIC_URL)
    .replaceAll(encodeURIComponent(url), encodeURIComponent(PUBLIC_URL));
  for (const [secret, example] of secrets) text = text.replaceAll(secret, example);
  return JSON.parse(text);
}
