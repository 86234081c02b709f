/** Requests to the owner to approve the destination that a request needs. */
import * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import type { World } from '../../world.ts'
import {
  type ApprovedDestination,
  coveringDestination,
  type Destination,
  describeDestination,
} from './destination.ts'

const askedRow = z.object({ destination: z.uuid() })

type EntryApprovals = { entry: string; origin: string; approved: readonly ApprovedDestination[] }

/** The approved destination, and its position among those that would do. */
type Found = { id: string; at: number }

/** Returns the first destination that is approved, or asks the owner for all and returns a refusal with the URL. */
export async function requireApprovedDestination(
  world: Pick<World, 'config'>,
  db: CallerDatabase,
  { entry, origin, approved }: EntryApprovals,
  wanted: readonly Destination[],
): Promise<Found | Refusal<'destination_not_approved'>> {
  for (const [at, destination] of wanted.entries()) {
    const covering = coveringDestination(destination, approved)
    if (covering) return { id: covering.id, at }
  }
  const ids: string[] = []
  for (const asked of wanted) {
    const row = await db.one('vault_ask_destination', { entry, asked }, askedRow)
    if (!row) throw new Error('vault_ask_destination answered no row')
    ids.push(row.destination)
  }
  const named = ids.length === 1 ? `/${ids[0]}` : ''
  return fail('destination_not_approved', {
    hint: 'Give your user approval_url, wait, and repeat the call.',
    // The path and the fields of a form are the site's words, so they are marked as untrusted.
    details: {
      approval_url: `${world.config.WEB_URL}/vault/${entry}/destinations${named}`,
      untrusted: {
        destinations: wanted.map((destination) => describeDestination(origin, destination)),
      },
    },
  })
}
