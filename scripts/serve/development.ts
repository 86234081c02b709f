/** Refuses to run a service with settings that only a development machine has. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mailDomain as localMailDomain } from '../local/bindings.ts'
import type { Settings } from './settings.ts'

const ownHosts = ['127.0.0.1', 'localhost', '[::1]']

/** Throws a sentence that names every such setting; `environment` is that of this process. */
export function refuseDevelopment(
  settings: Settings,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const { directory, baseUrl, mailDomain, mail } = settings
  const { protocol, hostname } = new URL(baseUrl)
  const found = [
    existsSync(join(directory, 'world.json')) || existsSync(join(directory, 'secrets.json'))
      ? `${directory} is the folder of a local world, whose keys npm start has made`
      : [],
    protocol !== 'https:' && !ownHosts.includes(hostname)
      ? `public_url is ${baseUrl}, which is not https`
      : [],
    mail && !/^(https|smtps):/.test(mail.url) ? `mail_url is neither https: nor smtps:` : [],
    mailDomain === localMailDomain ? `mail_domain ${mailDomain} is that of the local world` : [],
    environment['ALLOW_LOOPBACK'] === 'true' ? 'ALLOW_LOOPBACK is for the local world' : [],
    environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'
      ? 'NODE_TLS_REJECT_UNAUTHORIZED lets anybody stand in for every other server'
      : [],
  ].flat()
  if (found.length > 0) throw new Error(`not for a real service: ${found.join('; ')}`)
}
