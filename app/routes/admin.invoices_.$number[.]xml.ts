// The endpoint reads the ending.
export { headers, loader } from './admin.invoices_.$number[.]pdf.ts';
