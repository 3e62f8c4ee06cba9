/** What the address of a webhook may look like. Where it may lead is for the address guard to say. */

/** Scheme and authority as text: a parser would let `http:host`, `http:\\host` and `http://@host` pass as the same. */
const WEB_URL = /^https?:\/\/[^/?#\\@]+(?:[/?#]|$)/i;
const WITH_USER = /^[a-z][a-z0-9+.-]*:\/*[^/?#\\]*@/i;

/** Whether nothing stands before an `@` in the authority (RFC 3986, section 3.2.1). */
export function namesNoUser(url: string): boolean {
  return !WITH_USER.test(url);
}

/** Whether it is an absolute URL of http or https that names a host. */
export function isWebUrl(url: string): boolean {
  return WEB_URL.test(url) && URL.canParse(url);
}
