/** The link that guests open. */
export function toRoomUrl(name: string): string {
  return `${location.origin}/room/${name}`;
}
