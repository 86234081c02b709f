import { bindOperation, edgeFunctions } from '../../shared/http/edge.ts'
import { storeSiteCredentials, userSiteCredentials } from './contract.ts'
import { list, store } from './handler.ts'

export default edgeFunctions([
  bindOperation(storeSiteCredentials, store),
  bindOperation(userSiteCredentials, list),
])
