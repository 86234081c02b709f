/** Requests to the owner to approve the place that a request needs. */
import * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import type { World } from '../../world.ts'
import { type ApprovedPlace, coveringPlace, describePlace, type SecretPlace } from './place.ts'

const askedRow = z.object({ place: z.uuid() })

type EntryApprovals = { entry: string; origin: string; approved: readonly ApprovedPlace[] }

/** Returns the id of the approved place, if one is needed, or a refusal with the approval URL. */
export async function requireApprovedPlace(
  world: Pick<World, 'config'>,
  db: CallerDatabase,
  { entry, origin, approved }: EntryApprovals,
  place: SecretPlace | undefined,
): Promise<string[] | Refusal<'place_not_approved'>> {
  if (place === undefined) return []
  const covering = coveringPlace(place, approved)
  if (covering) return [covering.id]
  const asked = await db.one('vault_ask_place', { entry, asked: place }, askedRow)
  if (!asked) throw new Error('vault_ask_place answered no row')
  return fail('place_not_approved', {
    hint: 'Give your user approval_url, wait, and repeat the call. A sign-in form on a page such as /login takes it unasked, by vault_login.',
    // The path and the fields of a form are the site's words, so they are marked as untrusted.
    details: {
      approval_url: `${world.config.WEB_URL}/vault/${entry}/places/${asked.place}`,
      untrusted: { places: [describePlace(origin, place)] },
    },
  })
}
