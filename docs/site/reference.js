// Starts the API reference. It loads nothing from other hosts.
Scalar.createApiReference('#reference', {
  url: '/openapi.json',
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
  documentDownloadType: 'json',
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
