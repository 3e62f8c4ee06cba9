/** Loads the library when a passkey is first used: with the libraries that it needs, it has 300 modules. */
export function loadWebauthn(): Promise<typeof import('@simplewebauthn/server')> {
  return import('@simplewebauthn/server');
}
