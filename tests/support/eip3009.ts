/** EIP-3009's typed data in the form that another library takes. */

const fieldsOf = (type: string, ...names: string[]) => names.map((name) => ({ name, type }))

export const authorizationTypes = {
  TransferWithAuthorization: [
    ...fieldsOf('address', 'from', 'to'),
    ...fieldsOf('uint256', 'value', 'validAfter', 'validBefore'),
    ...fieldsOf('bytes32', 'nonce'),
  ],
}

export const cancellationTypes = {
  CancelAuthorization: [...fieldsOf('address', 'authorizer'), ...fieldsOf('bytes32', 'nonce')],
}
