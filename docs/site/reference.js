// Starts the API reference. It loads nothing from other hosts.

// What the samples of the document have in place of the reader's own values.
const EXAMPLE = { origin: 'https://lynxroom.example.com', workspace: '9', key: 'lnx_EXAMPLE_TOKEN' };
/** In this storage, so that the values end with the tab. */
const STORED = 'sample-values';

const chosen = JSON.parse(sessionStorage.getItem(STORED) ?? '{}');

/** Returns a sample with the origin of this page, and the workspace and the key that the reader has chosen. */
function fillSample(source) {
  const { workspace = EXAMPLE.workspace, key = EXAMPLE.key } = chosen;
  return source
    .replaceAll(EXAMPLE.origin, location.origin)
    .replaceAll(EXAMPLE.key, key)
    .replace(/(\/workspaces\/|\bworkspace_?id(?:["']?: ?|=))9\b/gi, `$1${workspace}`)
    .replace(/(client\.[\w.]+\(\{\s*id: )9\b/, `$1${workspace}`);
}

async function readDocument() {
  const response = await fetch('/openapi.json');
  const api = await response.json();
  for (const operations of Object.values(api.paths))
    for (const { 'x-codeSamples': samples = [] } of Object.values(operations))
      for (const sample of samples) sample.source = fillSample(sample.source);
  return api;
}

const form = document.getElementById('sample-values');
form.elements.workspace.value = chosen.workspace ?? '';
form.elements.key.value = chosen.key ?? '';
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const values = { workspace: form.elements.workspace.value.trim(), key: form.elements.key.value.trim() };
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
  sessionStorage.setItem(STORED, JSON.stringify(given));
  location.reload();
});

Scalar.createApiReference('#reference', {
  content: await readDocument(),
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  persistAuth: true,
  showDeveloperTools: 'never',
  hideClientButton: true,
  // The search of the guides finds operations, too.
  hideSearch: true,
  hideDarkModeToggle: true,
  // Each operation has samples of its own.
  hiddenClients: true,
  // Its own would contain the key of the reader.
  documentDownloadType: 'none',
  favicon: '/docs/assets/logo.svg',
  metaData: { title: 'API reference - Lynxroom' },
  authentication: { preferredSecurityScheme: 'bearer' },
  // Without a token, the session cookie of the browser counts. An empty header would take precedence over it.
  onRequestBuilt({ request }) {
    if (request.headers.get('authorization')?.trim() === 'Bearer') request.headers.delete('authorization');
  },
});

document.addEventListener('keydown', ({ key, target }) => {
  const isTyping = target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  if (key === '/' && !isTyping) document.getElementById('search').click();
});
