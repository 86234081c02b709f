/** Requests to the owner to approve the place that a request needs. */
import * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import type { World } from '../../world.ts'
import { type ApprovedPlace, coveringPlace, describePlace, type SecretPlace } from './place.ts'

const askedRow = z.object({ place: z.uuid() })

type EntryApprovals = { entry: string; origin: string; approved: readonly ApprovedPlace[] }

/** The approved place, and its position among those that would do. */
type Found = { id: string; at: number }

/** Returns the first place that is approved, or asks the owner for all and returns a refusal with the URL. */
export async function requireApprovedPlace(
  world: Pick<World, 'config'>,
  db: CallerDatabase,
  { entry, origin, approved }: EntryApprovals,
  wanted: readonly SecretPlace[],
): Promise<Found | Refusal<'place_not_approved'>> {
  for (const [at, place] of wanted.entries()) {
    const covering = coveringPlace(place, approved)
    if (covering) return { id: covering.id, at }
  }
  const ids: string[] = []
  for (const asked of wanted) {
    const row = await db.one('vault_ask_place', { entry, asked }, askedRow)
    if (!row) throw new Error('vault_ask_place answered no row')
    ids.push(row.place)
  }
  const named = ids.length === 1 ? `/${ids[0]}` : ''
  return fail('place_not_approved', {
    hint: 'Give your user approval_url, wait, and repeat the call.',
    // The path and the fields of a form are the site's words, so they are marked as untrusted.
    details: {
      approval_url: `${world.config.WEB_URL}/vault/${entry}/places${named}`,
      untrusted: { places: wanted.map((place) => describePlace(origin, place)) },
    },
  })
}
