/** The addresses that a mandate names: it pays them whether or not the merchant asks. */

import { LookalikeWarning } from '../ui/imitation.tsx'
import { Notice } from '../ui/show.tsx'
import type { OpenedMandate } from './mandates-data.ts'

/** Warns about the named addresses, and about each that resembles a known recipient. */
export function NamedPayees({ payees }: Pick<OpenedMandate, 'payees'>) {
  if (payees.length === 0) return null
  return (
    <>
      <Notice kind="warning" title="It pays the addresses it names">
        An agent can send money straight to them within these limits, whether or not the merchant
        asks for any, and nothing shows that they are the merchant’s. Compare each whole address
        with what the merchant itself tells you.
      </Notice>
      {payees.map(
        ({ address, similar }) =>
          similar !== null && <LookalikeWarning known={similar} imitating={address} />,
      )}
    </>
  )
}
