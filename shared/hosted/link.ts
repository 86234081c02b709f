/**
 * The links of hosted actions: how one is made, what stands for it in the database, and where its
 * page may lead back to. A link is a secret of 256 bits; only its HMAC is ever stored.
 */
import { credentialOf } from '../auth/api-key.ts'
import { encodeForUrl } from '../base64.ts'
import type { Config } from '../env.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'

const tokenBytes = 32
const tokenForm = /^[A-Za-z0-9_-]{43}$/

/** A new link and what the database keeps of it. */
export async function createLink(world: World): Promise<{ url: string; digest: string }> {
  const token = encodeForUrl(world.randomBytes(tokenBytes))
  const digest = await keyed(world.config, token)
  return { url: `${world.config.WEB_URL}/action/${token}`, digest }
}

/** What stands for a link's token in the database; undefined when it cannot be one. */
export async function linkDigest(config: Config, token: string): Promise<string | undefined> {
  return tokenForm.test(token) ? keyed(config, token) : undefined
}

/** The label keeps a link's token from ever standing for a key or a session under the same pepper. */
function keyed(config: Config, token: string): Promise<string> {
  return credentialOf(`hosted action ${token}`, required(config, 'API_KEY_PEPPER'))
}

/** Whether a page may show a link back to this address: its origin is one of the operator's list. */
export function mayReturnTo(config: Pick<Config, 'returnUrlOrigins'>, address: string): boolean {
  const url = URL.parse(address)
  if (!url || url.username !== '' || url.password !== '') return false
  // A blob: address has the origin of the page that made it.
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false
  return config.returnUrlOrigins.includes(url.origin)
}
