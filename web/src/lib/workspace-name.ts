/**
 * Returns the name by which people other than the owner know a workspace. Everybody's own is called Personal, so it
 * carries the name of its owner.
 */
export function toWorkspaceName({
  name,
  is_personal,
  owner_name,
}: {
  name: string;
  is_personal: number;
  owner_name: string;
}): string {
  return is_personal === 1 ? `${owner_name}'s ${name}` : name;
}
