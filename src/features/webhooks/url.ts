/** Checks the form of a webhook URL. The address guard decides which addresses the URL may point to. */

/** Matches the text, because the URL parser also accepts `http:host`, `http:\\host` and `http://@host`. */
const WEB_URL = /^https?:\/\/[^/?#\\@]+(?:[/?#]|$)/i;
const WITH_USER = /^[a-z][a-z0-9+.-]*:\/*[^/?#\\]*@/i;

/** Whether the authority has no user information before an `@` (RFC 3986, section 3.2.1). */
export function hasNoUser(url: string): boolean {
  return !WITH_USER.test(url);
}

/** Whether this is an absolute http or https URL with a host. */
export function isWebUrl(url: string): boolean {
  return WEB_URL.test(url) && URL.canParse(url);
}
