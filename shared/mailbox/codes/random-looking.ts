/** Tells tokens that a program drew from words and names. */

/** Returns true for at least 12 digits, 18 small letters, or 12 characters with 3 changes of kind. */
export function isRandomLooking(value: string): boolean {
  const signs = value.replaceAll(/[^A-Za-z0-9]/g, '')
  if (signs.length < 12) return false
  const changes = value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g) ?? []
  return changes.length >= 3 || /^\d{12,}$|^[a-z]{18,}$/.test(value.includes('-') ? '' : signs)
}
