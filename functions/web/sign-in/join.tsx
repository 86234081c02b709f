/** The page on which a person without an agent asks for a code by mail and enters it. */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { errorTable, isRefusal, type Refusal, Rejection } from '../../../shared/contract/errors.ts'
import { email as emailField } from '../../../shared/contract/fields.ts'
import { waitUntilOf } from '../../../shared/http/later.ts'
import { wakeMailer } from '../../../shared/mail/outbox.ts'
import {
  challengeField,
  challengeOrigin,
  challengeRefusal,
  challengeSiteKey,
} from '../../../shared/onboarding/challenge.ts'
import { confirmCode, requestSignup } from '../../../shared/onboarding/signup.ts'
import { goTo, readFormFields } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { waitInWords } from '../refusals.tsx'
import { browserOf } from '../session.ts'
import { Button, CodeField, Field, Form } from '../ui/form.tsx'
import { Challenge } from '../ui/passkey.tsx'
import { hostCookie, type PageContext, type Routes, webAppPath } from '../visit.ts'

/** Routes that take the mail address and then the code, and lead on to the registration page. */
export const routes: Routes = (app) => {
  app.get('/join', (c) => askAddress(c))
  app.post('/join', sendCode)
  app.get('/join/code', (c) => askCode(c))
  app.post('/join/code', takeCode)
}

const codeForm = /^[0-9]{6}$/
/** Cookie with the address that the code went to. Only the browser keeps it, while the code is valid. */
const cookie = 'aoa_join'

function asking(c: PageContext) {
  return { world: c.get('world'), client: browserOf(c).client }
}

function askAddress(c: PageContext, typed = '', error?: string) {
  const siteKey = challengeSiteKey(c.get('world').config)
  if (siteKey !== undefined) c.set('challengeOrigin', challengeOrigin)
  return sendPage(
    c,
    <Page
      c={c}
      title="Open an account"
      lead="Your agent gets an email address and a wallet. You set what it may spend, and can stop it at any time."
    >
      <Form c={c} action="/join">
        <Field
          name="email"
          label="Your email address"
          hint="We send a code to it. You use the address to sign in later."
          type="email"
          value={typed}
          required
          autocomplete="email"
          maxlength={254}
          {...(error === undefined ? {} : { error })}
        />
        {siteKey !== undefined && <Challenge siteKey={siteKey} />}
        <Button>Send the code</Button>
      </Form>
      <p class="quiet">
        Already have an account? <a href={`${webAppPath}/login`}>Sign in</a>.
      </p>
    </Page>,
    error === undefined ? 200 : 422,
  )
}

async function sendCode(c: PageContext) {
  const form = await readFormFields(c)
  const typed = form.get('email')?.trim() ?? ''
  const email = emailField.safeParse(typed)
  if (!email.success) return askAddress(c, typed, 'This is not a valid email address.')
  const unsolved = await challengeRefusal(asking(c), form.get(challengeField) ?? '')
  if (unsolved?.refusal === 'unavailable') throw new Rejection(unsolved)
  if (unsolved) return askAddress(c, typed, errorTable[unsolved.refusal][1])
  const error = await limitMessage(requestSignup(asking(c), { email: email.data }))
  if (error !== undefined) return askAddress(c, typed, error)
  wakeMailer(c.get('world'), waitUntilOf(c))
  const kept = { ...hostCookie, httpOnly: true, sameSite: 'Lax', maxAge: 600 } as const
  setCookie(c, cookie, email.data, kept)
  return goTo(c, '/join/code')
}

/** Turns a rate limit into a message of the form; rethrows everything else. */
async function limitMessage(asking: Promise<unknown>): Promise<string | undefined> {
  try {
    await asking
    return undefined
  } catch (error) {
    if (error instanceof Rejection && error.refusal.refusal === 'rate_limited') {
      return waitWords(error.refusal)
    }
    throw error
  }
}

function waitWords({ retryAfterSeconds = 60 }: Refusal): string {
  return `Several codes were already requested. The next one can be sent in ${waitInWords(retryAfterSeconds)}.`
}

function askCode(c: PageContext, error?: string) {
  const email = addressHeld(c)
  if (email === undefined) return goTo(c, '/join')
  return sendPage(
    c,
    <Page
      c={c}
      title="Enter the code"
      lead={
        <>
          We sent an email to <strong>{email}</strong>. Its code is valid for 10 minutes.
        </>
      }
    >
      <Form c={c} action="/join/code">
        <CodeField {...(error === undefined ? {} : { error })} />
        <Button>Continue</Button>
      </Form>
      <p class="quiet">
        Nothing came? Look in the spam folder, or <a href={`${webAppPath}/join`}>start again</a>{' '}
        with another address.
      </p>
    </Page>,
    error === undefined ? 200 : 422,
  )
}

/** Reads the address from the cookie, which the browser may have set to anything. */
function addressHeld(c: PageContext): string | undefined {
  return emailField.safeParse(getCookie(c, cookie, 'host')).data
}

async function takeCode(c: PageContext) {
  const email = addressHeld(c)
  if (email === undefined) return goTo(c, '/join')
  const code = ((await readFormFields(c)).get('code') ?? '').replaceAll(/\s/g, '')
  if (!codeForm.test(code)) return askCode(c, 'The code has 6 digits.')
  const confirmed = await confirmCode(asking(c), { email, code })
  if (isRefusal(confirmed)) {
    return askCode(c, 'This code is wrong or has expired. Use the newest email.')
  }
  deleteCookie(c, cookie, hostCookie)
  return c.redirect(confirmed.registrationUrl, 303)
}
