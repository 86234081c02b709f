/** A visitor's device that holds passkeys and confirms every request at once. */
import type { Visitor } from './browser.ts'

/** Scripts by which a page meets WebAuthn as browsers and password managers of today have it. */
export const oddPasskeys = {
  'Safari before 18.4': `
    delete PublicKeyCredential.parseCreationOptionsFromJSON
    delete PublicKeyCredential.parseRequestOptionsFromJSON
    delete PublicKeyCredential.prototype.toJSON`,
  'a password manager that answers with plain objects': `
    const plain = ({ id, rawId, type, response }) => {
      const names = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature']
      const bytes = Object.fromEntries(names.map((name) => [name, response[name]]))
      return { id, rawId, type, response: { ...bytes, userHandle: null } }
    }
    for (const name of ['create', 'get']) {
      const asked = navigator.credentials[name].bind(navigator.credentials)
      navigator.credentials[name] = async (options) => plain(await asked(options))
    }`,
  'a password manager whose toJSON throws': `
    PublicKeyCredential.prototype.toJSON = () => { throw new TypeError('Illegal invocation') }`,
} as const

export async function giveAuthenticator(
  { context, page }: Pick<Visitor, 'context' | 'page'>,
  transport: 'internal' | 'usb' = 'internal',
): Promise<void> {
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
