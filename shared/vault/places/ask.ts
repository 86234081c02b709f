/** Asks the owner for the place that a request needs and nobody approved. */
import * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import type { World } from '../../world.ts'
import { coveringPlace, type KnownPlace, type Place, placeWords } from './place.ts'

const askedRow = z.object({ place: z.uuid() })

type Used = { entry: string; origin: string; approved: readonly KnownPlace[] }

/** The id of the approved place that covers this one, or the refusal that leads to the owner. */
export async function approvedPlace(
  world: Pick<World, 'config'>,
  db: CallerDatabase,
  { entry, origin, approved }: Used,
  place: Place | undefined,
): Promise<string[] | Refusal<'place_not_approved'>> {
  if (place === undefined) return []
  const covering = coveringPlace(place, approved)
  if (covering) return [covering.id]
  const asked = await db.one('vault_ask_place', { entry, asked: place }, askedRow)
  if (!asked) throw new Error('vault_ask_place answered no row')
  return fail('place_not_approved', {
    hint: 'Give your user approval_url, wait, and repeat the call. For a sign-in form use vault_login.',
    // Of a form its path and field are the site's words.
    details: {
      approval_url: `${world.config.WEB_URL}/vault/${entry}/places/${asked.place}`,
      untrusted: { places: [placeWords(origin, place)] },
    },
  })
}
