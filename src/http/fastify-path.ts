/** A path of the OpenAPI document (`/api/rooms/{roomName}`) as Fastify writes it (`/api/rooms/:roomName`). */
export const routeOf = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');
