/**
 * Logins that the owner enters by a link. The link says for which account and site, the owner says
 * what; it becomes an entry of the owner's, and nothing that is there is changed by it.
 */
import * as z from 'zod'
import { fail, type Refusal } from '../contract/errors.ts'
import { unbound } from '../db/database.ts'
import { wrapSchema } from '../sealing/wrap.ts'
import { answering } from './answering.ts'
import { sealRecord } from './envelope.ts'
import { keyOrNew } from './keys.ts'
import type { LoginByLink, LoginLinkPort } from './login-link-port.ts'
import { encodeSecret, listedParts, type Secret, secretOf } from './record.ts'
import type { VaultRoom } from './room.ts'

const askedRow = z.object({ account: z.uuid(), site: z.string(), wrap: wrapSchema.nullable() })
type Asked = z.output<typeof askedRow>

const storedRow = z.object({ outcome: z.enum(['stored', 'exists', 'over', 'again']) })

/** The part of the vault that takes logins by links. */
export function openLoginLinks(room: VaultRoom): LoginLinkPort {
  return { storeByLink: (login) => answering(() => store(room, login)) }
}

async function store(
  room: VaultRoom,
  { username, secret: typed, mail, ...link }: LoginByLink,
): Promise<'stored' | 'exists' | 'over' | Refusal> {
  const secret = secretOf(typed)
  if ('refused' in secret) return fail('credential_refused', { message: secret.refused })
  const db = unbound(room.world.db)
  const asked = await db.one('link_login_asked', link, askedRow)
  if (!asked) return 'over'
  const { drawn, entry } = sealLogin(room, asked, username, secret)
  const stored = await db.one('link_store_login', { ...link, drawn, entry, mail }, storedRow)
  switch (stored?.outcome ?? 'over') {
    case 'again':
      // Another request gave the account its key in this moment.
      return fail('conflict')
    case 'stored':
      return 'stored'
    case 'exists':
      return 'exists'
    case 'over':
      return 'over'
  }
}

function sealLogin(room: VaultRoom, asked: Asked, username: string, secret: Secret) {
  const { world } = room
  const { account, site } = asked
  const roots = room.roots('vault')
  const random = (length: number) => world.randomBytes(length)
  const { wrap, drawn } = keyOrNew(roots, random, account, asked.wrap)
  const id = world.newId()
  const place = { account, record: id, version: 1, site }
  const entry = {
    id,
    username,
    sealed: sealRecord({ roots, wrap }, random, place, encodeSecret(secret)),
    ...listedParts(secret),
  }
  return { drawn, entry }
}
