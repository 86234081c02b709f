/**
 * Links of hosted actions: their tokens, the digests that the database stores, and the addresses to which
 * their pages may lead back. A link is a secret of 256 bits; only its HMAC is ever stored.
 */
import { credentialOf } from '../auth/api-key.ts'
import { encodeForUrl } from '../base64.ts'
import { type Config, required } from '../env.ts'
import type { World } from '../world.ts'

const tokenBytes = 32
const tokenForm = /^[A-Za-z0-9_-]{43}$/

/** Makes a new link and the digest that the database stores. */
export async function createActionLink(world: World): Promise<{ url: string; digest: string }> {
  const token = encodeForUrl(world.randomBytes(tokenBytes))
  const digest = await keyed(world.config, token)
  return { url: `${world.config.WEB_URL}/action/${token}`, digest }
}

/** Returns the digest of a link's token; undefined if the text has another form. */
export async function linkDigest(config: Config, token: string): Promise<string | undefined> {
  return tokenForm.test(token) ? keyed(config, token) : undefined
}

/** Computes an HMAC with a label, so that a link never equals a key or session under the same pepper. */
function keyed(config: Config, token: string): Promise<string> {
  return credentialOf(`hosted action ${token}`, required(config, 'API_KEY_PEPPER'))
}

/** True if a page may show a link back to this address: its origin must be on the operator's list. */
export function mayReturnTo(config: Pick<Config, 'returnUrlOrigins'>, address: string): boolean {
  const url = URL.parse(address)
  if (!url || url.username !== '' || url.password !== '') return false
  // A blob: address has the origin of the page that made it.
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false
  return config.returnUrlOrigins.includes(url.origin)
}
