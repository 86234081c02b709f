/**
 * Replaces a secret of a deployment in three steps, each of which has to be everywhere before the next: the new value is
 * read too, then it is used, then the old one is gone. So no request fails meanwhile (shared/env.ts).
 */
import { randomBytes } from 'node:crypto'
import { secretsFile } from './keys.ts'
import { readSealed, writeSealed } from './sealed-json.ts'

/** Secrets that may be bound as two values, with what has to pass before the old one goes. */
const replaceable: Readonly<Record<string, string>> = {
  OTP_PEPPER: 'after an hour',
  OUTBOX_KEY: 'after four days',
  PASSWORD_PEPPER: 'after some weeks, in which people sign in',
}

/** Name of the note in the file that the new value is the first one. */
const markOf = (name: string) => `${name}_IS_SWITCHED`

/** Takes the next step and returns what is to be done then. Throws a sentence for another name. */
export async function replaceSecret(
  settingsFile: string,
  passphrase: string,
  name: string,
): Promise<string> {
  const passes = replaceable[name]
  if (passes === undefined) {
    const names = Object.keys(replaceable).join(', ')
    throw new Error(
      `${name} has no overlap: --replace takes ${names}; scripts/rotate-keys/README.md tells how others are replaced`,
    )
  }
  const file = secretsFile(settingsFile, passphrase)
  const secrets = await readSealed(file)
  const bound = secrets?.[name]
  if (!secrets || bound === undefined) {
    throw new Error(`${file.path} has no ${name}: run npm run deploy first`)
  }
  const [first = '', second] = bound.split(' ')
  const { [markOf(name)]: isSwitched, ...others } = secrets
  if (second === undefined) {
    const added = `${first} ${randomBytes(32).toString('base64')}`
    await writeSealed(file, { ...others, [name]: added })
    return `1 of 3: a new ${name} is read as well. Run npm run deploy, then this command again.`
  }
  if (isSwitched === undefined) {
    await writeSealed(file, { ...others, [name]: `${second} ${first}`, [markOf(name)]: 'yes' })
    return `2 of 3: the new ${name} is used. Run npm run deploy, and this command again ${passes}.`
  }
  await writeSealed(file, { ...others, [name]: first })
  return `3 of 3: the old ${name} is gone. Run npm run deploy.`
}
