/**
 * Finds the locked packages that have a known weakness. The advisories are a list in this repository, so
 * the same tree always gives the same result and no registry is asked.
 */
import { satisfies, validRange } from 'semver'
import * as z from 'zod'

const advisory = z.object({
  /** Identifier in the GitHub Advisory Database. */
  id: z.string().regex(/^GHSA(-[23456789cfghjmpqrvwx]{4}){3}$/),
  package: z.string(),
  /** Range of versions, as npm writes it. */
  vulnerable: z.string().refine((range) => validRange(range) !== null),
  /** Page that states the range. */
  source: z.url(),
})
/** Schema of advisories.json. */
export const advisoriesSchema = z.array(advisory)
/** A weakness of a package, in these versions. */
export type Advisory = z.output<typeof advisory>

/** The part of package-lock.json (version 3) that names what is installed. */
export const lockSchema = z.object({
  lockfileVersion: z.literal(3),
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), name: z.string().optional() }),
  ),
})

/** Returns one line for each advisory that names a locked version. */
export function findingsIn(
  { packages }: z.output<typeof lockSchema>,
  advisories: readonly Advisory[],
): string[] {
  return Object.entries(packages).flatMap(([path, { version, name }]) => {
    if (path === '' || version === undefined) return []
    const called = name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    return advisories
      .filter((one) => one.package === called)
      .filter((one) => satisfies(version, one.vulnerable, { includePrerelease: true }))
      .map(({ id, vulnerable }) => `${called} ${version} at ${path}: ${id} (${vulnerable})`)
  })
}
