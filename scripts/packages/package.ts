/** What the packages for npm have in common: manifest, licence, and where they are put. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The TypeScript compiler as a script for node. */
export const compiler = fileURLToPath(
  new URL('bin/tsc', import.meta.resolve('typescript/package.json')),
)

const manifest = z.object({ version: z.string(), license: z.string() })

/** Both packages are the product as it is in this tree, so they share its version. */
export const { version, license } = manifest.parse(
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')),
)

/** Makes the folder anew with the files that every package has. */
export function beginPackage(outdir: string, readme: string, own: Record<string, unknown>): void {
  rmSync(outdir, { recursive: true, force: true })
  mkdirSync(outdir, { recursive: true })
  copyFileSync(join(root, 'LICENSE'), join(outdir, 'LICENSE'))
  copyFileSync(join(root, readme), join(outdir, 'README.md'))
  const whole = { ...own, version, license, type: 'module' }
  writeFileSync(join(outdir, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`)
}
