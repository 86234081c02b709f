/**
 * Program that brings the database up to date: migrations, logins, relayers, and a link for the first owner. It
 * reads the secrets of custody and the vault, which the service itself never does.
 */
import * as z from 'zod'
import { migrate } from '../migrate.ts'
import { openLogins } from './database.ts'
import {
  asOwner,
  chainsBehind,
  custodyRootsIn,
  hasNoAccount,
  invite,
  readyRelayers,
} from './owner.ts'
import { programInput } from './program.ts'

const inputSchema = z.object({
  databaseUrl: z.string(),
  directory: z.string(),
  /** CAIP-2 ids of the chains that need a relayer. */
  networks: z.array(z.string()),
  /** Address with which the first owner signs in. */
  firstOwner: z.string(),
})

const { databaseUrl, directory, networks, firstOwner } = await programInput(inputSchema)
const applied = await migrate(databaseUrl)
const ready = await asOwner(databaseUrl, async (sql) => {
  await openLogins(sql, directory)
  const registration = (await hasNoAccount(sql)) ? await invite(sql, firstOwner) : undefined
  const relayers = await readyRelayers(sql, () => custodyRootsIn(directory), networks)
  return { registration, relayers, behind: await chainsBehind(sql, networks) }
})
console.log(JSON.stringify({ applied: applied.length, ...ready }))
