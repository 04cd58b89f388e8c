// See record_text.hpp.
#include "vcf2arrow/record_text.hpp"

#include <charconv>
#include <cstring>

namespace strom::vcf2arrow {

namespace {

constexpr size_t kLongestFloat = 32;

void put_float(uint32_t bits, kstring_t* line) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  char text[kLongestFloat];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  kputsn(text, static_cast<size_t>(end - text), line);
  (void)error;  // the longest float has fewer characters
}

/// `count` floats, or fewer where a vector ends before.
void put_floats(const uint8_t* values, int count, kstring_t* line) {
  for (int i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + static_cast<size_t>(i) * sizeof bits, sizeof bits);
    if (bits == bcf_float_vector_end) {
      if (i == 0) kputc('.', line);
      return;
    }
    if (i > 0) kputc(',', line);
    if (bits == bcf_float_missing)
      kputc('.', line);
    else
      put_float(bits, line);
  }
}

void put_values(int type, int count, uint8_t* values, kstring_t* line) {
  if (type == BCF_BT_FLOAT)
    put_floats(values, count, line);
  else
    bcf_fmt_array(line, count, type, values);
}

const char* key_of(const bcf_hdr_t* header, int key) {
  return key >= 0 && key < header->n[BCF_DT_ID] ? header->id[BCF_DT_ID][key].key : nullptr;
}

bool put_info(const bcf_hdr_t* header, const bcf1_t* record, kstring_t* line) {
  bool is_first = true;
  for (int i = 0; i < record->n_info; ++i) {
    const bcf_info_t& info = record->d.info[i];
    if (info.vptr == nullptr) continue;  // removed
    const char* key = key_of(header, info.key);
    if (key == nullptr) return false;
    if (!is_first) kputc(';', line);
    is_first = false;
    kputs(key, line);
    if (info.len <= 0) continue;  // a flag
    kputc('=', line);
    put_values(info.type, info.len, info.vptr, line);
  }
  if (is_first) kputc('.', line);
  return true;
}

bool put_samples(const bcf_hdr_t* header, bcf1_t* record, kstring_t* line) {
  bool is_first = true;
  int genotype = -1;
  for (int i = 0; i < static_cast<int>(record->n_fmt); ++i) {
    const bcf_fmt_t& format = record->d.fmt[i];
    if (format.p == nullptr) continue;
    const char* key = key_of(header, format.id);
    if (key == nullptr) return false;
    kputc(is_first ? '\t' : ':', line);
    is_first = false;
    kputs(key, line);
    if (std::strcmp(key, "GT") == 0) genotype = i;
  }
  if (is_first) kputs("\t.", line);
  for (int sample = 0; sample < static_cast<int>(record->n_sample); ++sample) {
    kputc('\t', line);
    is_first = true;
    for (int i = 0; i < static_cast<int>(record->n_fmt); ++i) {
      bcf_fmt_t& format = record->d.fmt[i];
      if (format.p == nullptr) continue;
      if (!is_first) kputc(':', line);
      is_first = false;
      if (i == genotype)
        bcf_format_gt(&format, sample, line);
      else
        put_values(format.type, format.n, format.p + static_cast<size_t>(sample) * static_cast<size_t>(format.size),
                   line);
    }
    if (is_first) kputc('.', line);
  }
  return true;
}

}  // namespace

bool format_record(const bcf_hdr_t* header, bcf1_t* record, kstring_t* line) {
  line->l = 0;
  if (record->errcode != 0 || bcf_unpack(record, BCF_UN_ALL) != 0) return false;
  const char* chromosome = bcf_seqname(header, record);
  if (chromosome == nullptr || record->n_allele == 0) return false;
  kputs(chromosome, line);
  kputc('\t', line);
  kputll(record->pos + 1, line);
  kputc('\t', line);
  kputs(record->d.id, line);
  kputc('\t', line);
  kputs(record->d.allele[0], line);
  kputc('\t', line);
  for (int i = 1; i < static_cast<int>(record->n_allele); ++i) {
    if (i > 1) kputc(',', line);
    kputs(record->d.allele[i], line);
  }
  if (record->n_allele == 1) kputc('.', line);
  kputc('\t', line);
  uint32_t quality;
  std::memcpy(&quality, &record->qual, sizeof quality);
  put_floats(reinterpret_cast<const uint8_t*>(&quality), 1, line);
  kputc('\t', line);
  for (int i = 0; i < record->d.n_flt; ++i) {
    const char* filter = key_of(header, record->d.flt[i]);
    if (filter == nullptr) return false;
    if (i > 0) kputc(';', line);
    kputs(filter, line);
  }
  if (record->d.n_flt == 0) kputc('.', line);
  kputc('\t', line);
  return put_info(header, record, line) && (record->n_sample == 0 || put_samples(header, record, line));
}

}  // namespace strom::vcf2arrow
