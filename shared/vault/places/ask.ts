/** Asks the owner for the places that a request needs and nobody approved. */
import * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import type { World } from '../../world.ts'
import { coveringPlace, type KnownPlace, type Place, placeWords } from './place.ts'

const askedRow = z.object({ place: z.uuid() })

type Used = { entry: string; origin: string; approved: readonly KnownPlace[] }

/** The ids of the approved places that cover all of these, or the refusal that leads to the owner. */
export async function approvedPlaces(
  world: Pick<World, 'config'>,
  db: CallerDatabase,
  { entry, origin, approved }: Used,
  places: readonly Place[],
): Promise<string[] | Refusal<'place_not_approved'>> {
  const covering = places.map((place) => coveringPlace(place, approved))
  const missing = places.filter((_, at) => covering[at] === undefined)
  if (missing.length === 0) return covering.flatMap((place) => place?.id ?? [])
  const asked = await db.many('vault_ask_places', { entry, places: missing }, askedRow)
  const [only, ...others] = asked
  const all = `${world.config.WEB_URL}/vault/${entry}/places`
  const approval_url = only && others.length === 0 ? `${all}/${only.place}` : all
  return fail('place_not_approved', {
    hint: 'Give your user approval_url, wait, and repeat the call. For a sign-in form use vault_login.',
    // Of a form its path and field are the site's words.
    details: {
      approval_url,
      untrusted: { places: missing.map((place) => placeWords(origin, place)) },
    },
  })
}
