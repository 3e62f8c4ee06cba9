/** Saves data as a file, as if the browser had downloaded it. */
export function saveFile(data: Blob, filename: string): void {
  const url = URL.createObjectURL(data);
  saveUrl(url, filename);
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Saves what a URL serves. The page stays, whatever the answer is. The server may name the file. */
export function saveUrl(url: string, filename = ''): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = filename;
  link.click();
}
