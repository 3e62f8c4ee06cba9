/** Whether this document was made for a frame of another origin. It then uses no cookies, and leads to no other page. */
export const isEmbedded = /^\/embed\//i.test(location.pathname);

/** The token of a frame with the library or the webhooks, and what to do when the service refuses it. */
export const embedToken: { current?: string; onRefused?: () => void } = {};
