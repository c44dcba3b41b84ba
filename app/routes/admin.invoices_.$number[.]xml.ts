// The endpoint tells XML from PDF by the end of the path.
export { headers, loader } from './admin.invoices_.$number[.]pdf.ts';
