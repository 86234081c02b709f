import { edgeFunction } from '../../shared/http/edge.ts'
import { requestSignupVerification } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(requestSignupVerification, run)
