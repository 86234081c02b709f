/**
 * Scopes of a credential and the order between them. A wider scope covers the narrower ones, so an
 * operation names only the narrowest scope that it needs.
 */

/**
 * What a credential may hold. `vault` stands aside: it uses secrets and does nothing else. `owner` is
 * held by sessions of the web app alone, which no operation takes.
 */
export const scopes = ['read', 'pay', 'full', 'vault', 'owner'] as const
/** One scope, as it is stored with a credential. */
export type Scope = (typeof scopes)[number]

/** What an operation asks of its caller: `public` no token at all, `any` a token of any scope. */
export type Access = 'public' | 'any' | 'read' | 'vault' | 'pay' | 'full'
