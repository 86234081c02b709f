/** The parts that the npm packages have in common: manifest, licence and folder. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'

/** Path of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Path of the TypeScript compiler, a script for node. */
export const compiler = fileURLToPath(
  new URL('bin/tsc', import.meta.resolve('typescript/package.json')),
)

const manifest = z.object({ version: z.string(), license: z.string() })

/** Version and licence of both packages, which are the product as it is in this tree. */
export const { version, license } = manifest.parse(
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')),
)

/** Empties the folder and writes the files that every package has. */
export function beginPackage(outdir: string, readme: string, own: Record<string, unknown>): void {
  rmSync(outdir, { recursive: true, force: true })
  mkdirSync(outdir, { recursive: true })
  copyFileSync(join(root, 'LICENSE'), join(outdir, 'LICENSE'))
  copyFileSync(join(root, readme), join(outdir, 'README.md'))
  const whole = { ...own, version, license, type: 'module' }
  writeFileSync(join(outdir, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`)
}
