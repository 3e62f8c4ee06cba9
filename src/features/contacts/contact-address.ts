/** Returns the address that identifies a contact. Returns null for a person without an address, who has no contact. */
export function toContactAddress(email: string | null): string | null {
  return email?.trim().toLowerCase() || null;
}
