/** Every outside source of text. */
import type { Market } from '../market.ts'
import { inboundMails, refusingServer } from './mails.ts'
import { honestMerchant, lyingMerchant } from './merchants.ts'
import { lyingEndpoint, namedApps, namesInTheFeed } from './people.ts'
import { answeringSite, pageOfForms } from './sites.ts'
import type { Source } from './source.ts'

/** Sources by name, each opened in a world of shops when its turn comes. */
export const sources: Readonly<Record<string, (market: Market) => Promise<Source>>> = {
  'a merchant': lyingMerchant,
  'a merchant that delivers': honestMerchant,
  'a site': answeringSite,
  'a page with forms': pageOfForms,
  'a mail': inboundMails,
  'a mail server that refuses': refusingServer,
  'an app': namedApps,
  'a memo, an app and who has a link': namesInTheFeed,
  'an endpoint of a chain': lyingEndpoint,
}
