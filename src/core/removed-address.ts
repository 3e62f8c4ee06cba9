/**
 * SQL for what is stored of the address of somebody whom a workspace has removed: a hash, which differs from workspace
 * to workspace. Both are expressions; the address is one of `users`, which are normalized.
 */
export function removedAddressIn(workspaceId: string, email: string): string {
  return `sha256(convert_to(${workspaceId} || ' ' || ${email}, 'UTF8'))`;
}
