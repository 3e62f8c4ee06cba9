/** Converts a path of the OpenAPI document (`/api/rooms/{roomName}`) to Fastify's form (`/api/rooms/:roomName`). */
export function toFastifyPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
