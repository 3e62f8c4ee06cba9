/** Whether this document was made for a frame of another origin. It then uses no cookies, and leads to no other page. */
export const isEmbedded = /^\/embed\//i.test(location.pathname);
