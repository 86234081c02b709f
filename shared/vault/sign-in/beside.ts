/**
 * What stands beside a secret in a form. Some sites speak to the server that a field names, so nothing of
 * it is the agent's: a page that fills its fields in with what the agent put into an address, or into a
 * form before, is for the owner to look at.
 */
import type { Control, PageForm } from './page-forms.ts'

const saidMax = 64
const saidCharactersMax = 512
/** Shorter texts name no server, and stand in many fields by chance. */
const charactersMin = 4

/** What the agent has said in a session, with what it says now; the oldest is forgotten. */
export function saidWith(said: readonly string[], texts: readonly string[]): string[] {
  const told = texts
    .map((text) => text.trim().toLowerCase().slice(0, saidCharactersMax))
    .filter((text) => text.length >= charactersMin && !isOwnPath(text))
  return [...new Set([...said, ...told])].slice(-saidMax)
}

/** What an address says in its query; a part without a value says its name. */
export function saidIn({ searchParams }: URL): string[] {
  return [...searchParams].map(([name, value]) => value || name)
}

/** The other fields of the form by their names: null where the page has a value of its own, else the agent's. */
export function besideIn(
  { controls }: PageForm,
  filled: readonly Control[],
  said: readonly string[],
): Record<string, string | null> {
  const others = controls.filter(
    (control) => !filled.includes(control) && control.type !== 'submit',
  )
  // Anti-forgery tokens are the names of fields at some sites.
  const named = others.map(({ name, value, options }): [string, string | null] => [
    name.replaceAll(/[0-9a-f]{16,}/gi, '*'),
    [value, ...options].find((one) => isSaid(one, said)) ?? null,
  ])
  return Object.fromEntries(named)
}

/** As it was said, or a part of either in the other. */
function isSaid(value: string, said: readonly string[]): boolean {
  const text = value.trim().toLowerCase()
  if (text.length < charactersMin || isOwnPath(text)) return false
  return said.some((one) => text.includes(one) || one.includes(text))
}

/** Where a sign-in leads on to, as in `?next=/home`; such a path names no other server. */
function isOwnPath(text: string): boolean {
  return /^\/(?![/\\])[^\\:@]*$/.test(text)
}
