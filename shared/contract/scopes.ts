/**
 * Scopes of a credential and their order. A wider scope covers the narrower ones, so an operation names
 * only the narrowest scope that it needs.
 */

/**
 * Scopes that a credential may hold. `vault` permits the use of secrets and nothing else. Only sessions of
 * the web app hold `owner`, and no operation accepts it.
 */
export const scopes = ['read', 'pay', 'full', 'vault', 'owner'] as const
/** One scope, as stored with a credential. */
export type Scope = (typeof scopes)[number]

/** Access that an operation requires: `public` needs no token, `any` a token of any scope. */
export type Access = 'public' | 'any' | 'read' | 'vault' | 'pay' | 'full'

/** Scopes that satisfy each access, as `private.scope_covers` decides them. */
const covering: Readonly<Record<Access, readonly string[]>> = {
  public: scopes,
  any: scopes,
  read: ['read', 'pay', 'full', 'owner'],
  vault: ['vault', 'pay', 'full'],
  pay: ['pay', 'full'],
  full: ['full'],
}

/** True if one of the held scopes covers the access. */
export function coversAccess(held: readonly string[], access: Access): boolean {
  return held.some((scope) => covering[access].includes(scope))
}
