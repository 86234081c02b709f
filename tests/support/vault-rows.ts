/**
 * Entries and codes of mails as rows, sealed under the keys of a test world. They serve for data that no
 * operation would store, and for tests about later steps.
 */
import { readRoots } from '../../shared/sealing/roots.ts'
import type { WrappedAccountKey } from '../../shared/sealing/wrap.ts'
import {
  type Destination,
  sortPositions,
  type ValuePosition,
} from '../../shared/vault/destinations/destination.ts'
import { encodeSecret, type Secret } from '../../shared/vault/entries/record.ts'
import { newAccountKey, sealRecord } from '../../shared/vault/envelope.ts'
import { randomBytes, randomUUID } from './seed.ts'
import type { Agent, Answer, TestWorld } from './world.ts'

type Purpose = 'vault' | 'mail'
type Sealing = { record: string; site: string }

const random = (length: number) => new Uint8Array(randomBytes(length))

async function seal(
  { db, bindings }: TestWorld,
  { id: account }: Agent,
  { purpose, record, site }: Sealing & { purpose: Purpose },
  content: Uint8Array,
) {
  const roots = readRoots(bindings.vault['VAULT_ROOT_KEYS'] ?? '', purpose)
  const drawn = db.sql.json(newAccountKey(roots, random, account))
  const [kept] = await db.sql<{ wrap: WrappedAccountKey }[]>`
    select private.keep_account_key(${account}, ${purpose}, ${drawn}) as wrap`
  if (!kept) throw new Error('no key of the account')
  const place = { account, record, version: 1, site }
  return sealRecord({ roots, wrap: kept.wrap }, random, place, content)
}

/** Stores an entry of the owner and returns its id. */
export async function entryOf(
  world: TestWorld,
  agent: Agent,
  { site, username = 'me', ...secret }: Secret & { site: string; username?: string },
): Promise<string> {
  const record = randomUUID()
  const sealed = await seal(world, agent, { purpose: 'vault', record, site }, encodeSecret(secret))
  await world.db.sql`
    insert into private.vault_entries (id, account, site, username, version, sealed,
      has_password, has_totp, field_names, takes_codes)
    values (${record}, ${agent.id}, ${site}, ${username}, 1, ${world.db.sql.json(sealed)},
      ${secret.password !== undefined}, ${secret.totp !== undefined},
      ${Object.keys(secret.fields ?? {})}, true)`
  return record
}

/**
 * Approves a destination of an entry: by default a field of a form that the agent fills in.
 */
export async function approveDestination(
  { db }: TestWorld,
  entry: string,
  given: Partial<
    ValuePosition & Omit<Destination, 'standing'> & { also: Partial<ValuePosition>[] }
  >,
): Promise<void> {
  const standing = sortPositions([given, ...(given.also ?? [])].map(standingOf))
  const { kind = 'request', page = '', method = 'POST', path = '/' } = given
  await db.sql`
    insert into private.vault_destinations (account, entry, kind, page, standing, method, path,
      approved_at)
    select account, id, ${kind}, ${page}, ${db.sql.json(standing)}, ${method}, ${path},
      private.clock() from private.vault_entries where id = ${entry}`
}

function standingOf(given: Partial<ValuePosition>): ValuePosition {
  const { secret = 'password', where = 'form_field', name = '', prefix = '' } = given
  return { secret, where, name, prefix }
}

/** Approves, as the owner does, all destinations that an entry was refused for. */
export async function approveAsked({ db }: Pick<TestWorld, 'db'>, entry: string): Promise<void> {
  await db.sql`update private.vault_destinations set approved_at = private.clock()
    where entry = ${entry} and approved_at is null`
}

/** Signs in by the form of a page, which the owner approves first if that is needed. */
export async function signInAt(
  world: Pick<TestWorld, 'db'>,
  agent: Agent,
  order: { credential_id: string; path?: string; fields?: object | undefined },
): Promise<Answer> {
  const login = () => agent.post('/vault-login', { path: '/login', ...order })
  const first = await login()
  if (first.body['error'] !== 'destination_not_approved') return first
  await approveAsked(world, order.credential_id)
  return login()
}

/** Asks the owner to allow a secret in a form field, as a key without an approved place does. */
export async function askDestination(
  { db: { sql } }: TestWorld,
  credential: string,
  entry: string,
  path: string,
): Promise<void> {
  const standing = [standingOf({ name: 'pass' })]
  const place = { kind: 'request', page: '', standing, method: 'POST', path }
  await sql`select from api.vault_ask_destination(${credential}, ${entry}, ${sql.json(place)})`
}

/** Stores a mail with one code or link in it and returns its handle. */
export async function codeOf(
  world: TestWorld,
  agent: Agent,
  {
    value,
    hosts = [],
    kind = 'code',
  }: {
    value: string
    hosts?: string[]
    kind?: 'code' | 'link'
  },
): Promise<string> {
  const [mail, handle] = [randomUUID(), `c_${randomBytes(6).toString('hex')}`]
  const site = hosts.join(' ')
  const place = { purpose: 'mail' as const, record: `${mail}/${handle}`, site }
  const sealed = await seal(world, agent, place, new TextEncoder().encode(value))
  const { sql } = world.db
  await sql`insert into private.mails (id, account, direction, from_address, digest, size, room,
      sealed_head, sealed_body) values (${mail}, ${agent.id}, 'in', 'no-reply@shop.example',
      ${randomBytes(32).toString('hex')}, 1, 1, '{}', '{}')`
  await sql`insert into private.mail_codes (account, handle, mail, kind, hosts, sealed, expires_at)
    values (${agent.id}, ${handle}, ${mail}, ${kind}, ${hosts}, ${sql.json(sealed)},
      private.clock() + interval '15 minutes')`
  return handle
}
