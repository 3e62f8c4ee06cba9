/** Unsent mail is shown only to browsers on the machine that runs the service. */
export const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
