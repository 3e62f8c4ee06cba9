/** A path of the OpenAPI document (`/api/rooms/{roomName}`) as Fastify writes it (`/api/rooms/:roomName`). */
export function routeOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
