import { edgeFunction } from '../../shared/http/edge.ts'
import { confirmRegistrationCode } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(confirmRegistrationCode, run)
