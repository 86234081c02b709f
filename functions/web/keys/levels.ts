/** Scopes in the words that an owner decides by, the same for keys and for apps. */
import type { GrantScope } from '../../../shared/oauth/issuer.ts'

/** Choice of access for a key or an app: its scopes, and the words that the owner reads. */
export type Level = { name: string; scopes: readonly GrantScope[]; label: string; hint: string }

const secretsHint =
  'Acts at sites with logins of the vault, without seeing passwords. Sees one-time codes of ' +
  'authenticators, and adds logins of its own.'
const secrets: Level = {
  name: 'vault',
  scopes: ['vault'],
  label: 'Use stored secrets',
  hint: secretsHint,
}
const look: Level = {
  name: 'read',
  scopes: ['read'],
  label: 'Look only',
  hint: 'Balances, activity, limits and mails of the account.',
}
const lookAndSecrets: Level = {
  name: 'read_vault',
  scopes: ['read', 'vault'],
  label: 'Look and use stored secrets',
  hint: secretsHint,
}
const pay: Level = {
  name: 'pay',
  scopes: ['pay'],
  label: 'Look, use stored secrets and pay',
  hint: 'Pays and writes mails in your name, within your limits and the caps below.',
}
const full: Level = {
  name: 'full',
  scopes: ['full'],
  label: 'Everything an agent may do',
  hint: 'All operations, those that come later too. Never what only you may do.',
}

/** Returns the level of some scopes; a wider scope includes the narrower ones. */
export function levelOf(scopes: readonly string[]): Level {
  const has = (scope: string) => scopes.includes(scope)
  if (has('full')) return full
  if (has('pay')) return pay
  if (!has('vault')) return look
  return has('read') ? lookAndSecrets : secrets
}

const ladder = [look, lookAndSecrets, pay, full]

/** Returns the levels that an app with these scopes can be given, with its own. */
export function levelsFor(scopes: readonly string[]): readonly Level[] {
  return levelOf(scopes) === secrets ? [secrets, ...ladder] : ladder
}

/** Returns the levels that the owner can grant, the narrowest first and last the one that was asked for. */
export function levelsWithin(asked: readonly string[]): readonly Level[] {
  const widest = levelOf(asked)
  return widest === secrets ? [secrets] : ladder.slice(0, ladder.indexOf(widest) + 1)
}
