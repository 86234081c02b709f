// Forms that a passkey answers. The server sends them hidden, because without script there is no passkey.

for (const place of document.querySelectorAll<HTMLElement>('[data-passkey]')) {
  const form = place.querySelector('form')
  if (!form || !('PublicKeyCredential' in window)) continue
  place.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    signWithPasskey(place, form).catch((error: unknown) => tell(form, error))
  })
}

// Forms that are approved by a passkey's signature over the terms they show. Other buttons need no passkey.
const answered = new WeakSet<HTMLFormElement>()
for (const form of document.querySelectorAll<HTMLFormElement>('form[data-consent]')) {
  const button = form.querySelector<HTMLButtonElement>('button[value=approved]')
  if (!button || !('PublicKeyCredential' in window)) continue
  button.hidden = false
  for (const unable of form.querySelectorAll<HTMLElement>('[data-unable]')) unable.hidden = true
  form.addEventListener('submit', (event) => {
    if (event.submitter !== button || answered.delete(form)) return
    event.preventDefault()
    consent(form, button).catch((error: unknown) => tell(form, error))
  })
}

async function consent(form: HTMLFormElement, button: HTMLButtonElement) {
  const ticked = [...form.querySelectorAll<HTMLInputElement>('[data-ticks] input:checked')]
  const challenges = new URLSearchParams(form.dataset['challenges'])
  const challenge = challenges.get(ticked.map(({ name }) => name).join(' ')) ?? ''
  const options: unknown = JSON.parse(form.dataset['consent'] ?? '')
  await fillIn(form, isToGet(options) ? { ...options, challenge } : options)
  answered.add(form)
  form.requestSubmit(button)
}

async function signWithPasskey(place: HTMLElement, form: HTMLFormElement) {
  const options = await postForChallenge(
    place.dataset['options'] ?? '',
    fieldOf(form, 'form').value,
  )
  if (options === undefined) return
  await fillIn(form, options)
  form.submit()
}

async function fillIn(form: HTMLFormElement, options: unknown) {
  fieldOf(form, 'answer').value = passkeyAnswer(await turnToAuthenticator(options))
}

// Fetches the options. A redirect, such as to the page for a proof, is followed; other answers reload.
async function postForChallenge(path: string, token: string): Promise<unknown> {
  const response = await fetch(path, { method: 'POST', body: new URLSearchParams({ form: token }) })
  if (response.headers.get('content-type')?.startsWith('application/json')) return response.json()
  location.assign(response.redirected ? response.url : location.href)
  return undefined
}

// The script converts bytes itself. The JSON functions of WebAuthn level 3 are missing in Safari before 18.4,
// and password managers answer with plain objects, which have no toJSON or one that throws.
async function turnToAuthenticator(options: unknown): Promise<Credential | null> {
  if (isToCreate(options)) {
    const { challenge, user, excludeCredentials, ...rest } = options
    const publicKey = {
      ...rest,
      challenge: bytesOfBase64Url(challenge),
      user: { ...user, id: bytesOfBase64Url(user.id) },
      excludeCredentials: excludeCredentials.map(named),
    }
    return navigator.credentials.create({ publicKey })
  }
  if (!isToGet(options)) return null
  const { challenge, allowCredentials = [], ...rest } = options
  const allowed = allowCredentials.map(named)
  const publicKey = { ...rest, challenge: bytesOfBase64Url(challenge), allowCredentials: allowed }
  return navigator.credentials.get({ publicKey })
}

type Named = Omit<PublicKeyCredentialDescriptor, 'id'> & { id: string }
type ToCreate = Omit<PublicKeyCredentialCreationOptions, 'challenge' | 'user'> & {
  challenge: string
  user: { id: string; name: string; displayName: string }
  excludeCredentials: Named[]
}
type ToGet = Omit<PublicKeyCredentialRequestOptions, 'challenge' | 'allowCredentials'> & {
  challenge: string
  allowCredentials?: Named[]
}

function isToCreate(options: unknown): options is ToCreate {
  return typeof options === 'object' && options !== null && 'user' in options
}

function isToGet(options: unknown): options is ToGet {
  return typeof options === 'object' && options !== null && 'rpId' in options
}

function named({ id, ...rest }: Named): PublicKeyCredentialDescriptor {
  return { ...rest, id: bytesOfBase64Url(id) }
}

const byteFields = [
  'clientDataJSON',
  'attestationObject',
  'authenticatorData',
  'signature',
  'userHandle',
] as const
type Answer = {
  rawId: ArrayBuffer
  response: Partial<Record<(typeof byteFields)[number], ArrayBuffer | null>> & {
    getTransports?: () => string[]
  }
}

function isAnswer(credential: Credential | null): credential is Credential & Answer {
  return credential !== null && 'rawId' in credential && 'response' in credential
}

function passkeyAnswer(credential: Credential | null): string {
  if (!isAnswer(credential)) throw new Error('no passkey')
  const { rawId, response } = credential
  const id = base64UrlOf(rawId)
  const answer: Record<string, string | string[]> = {}
  for (const name of byteFields) {
    const value = response[name]
    if (value) answer[name] = base64UrlOf(value)
  }
  answer['transports'] = response.getTransports?.() ?? []
  return JSON.stringify({ id, rawId: id, type: 'public-key', response: answer })
}

function bytesOfBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))
}

function base64UrlOf(bytes: ArrayBuffer): string {
  const text = btoa(Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join(''))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function fieldOf(form: HTMLFormElement, name: string): HTMLInputElement {
  const field = form.elements.namedItem(name)
  if (!(field instanceof HTMLInputElement)) throw new Error(`no field ${name}`)
  return field
}

function tell(form: HTMLFormElement, error: unknown) {
  const place = form.querySelector<HTMLElement>('[role=alert]')
  if (!place) return
  const what = 'consent' in form.dataset ? 'not used, nothing was approved' : 'not used'
  const why = reasons[error instanceof DOMException ? error.name : ''] ?? otherReason
  place.textContent = `The passkey was ${what}. ${why} ${place.dataset['otherwise'] ?? ''}`
  place.hidden = false
}

// By the names of WebAuthn level 3, sections 5.1.3 and 5.1.4.
const reasons: Readonly<Record<string, string>> = {
  InvalidStateError: 'This device already holds a passkey for the account.',
  NotAllowedError: 'It was declined, took too long, or this device has none for this site.',
  SecurityError: 'The passkeys of the account are for another web address.',
  NotSupportedError: 'This device supports no kind of passkey that works here.',
  ConstraintError: 'This device cannot verify you by PIN, fingerprint or face.',
}
const otherReason = 'The browser or a password manager gave no valid passkey response.'

export {}
