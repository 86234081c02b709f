import { bound, edgeFunctions } from '../../shared/http/edge.ts'
import { storeSiteCredentials, userSiteCredentials } from './contract.ts'
import { list, store } from './handler.ts'

export default edgeFunctions([bound(storeSiteCredentials, store), bound(userSiteCredentials, list)])
