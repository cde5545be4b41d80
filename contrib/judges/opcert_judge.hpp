// Judges outputs of a device by the goldens of `opcert export --expected`. C++17, a little-endian machine.
// opcert::judge(goldens, outputs) gives a folder and a verdict for each case. Reads .npy of numpy's own types.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

namespace opcert {
namespace fs = std::filesystem;
using std::string;

struct Output { string type, shape, expected, allowed; std::multimap<size_t, string> alternatives; };
struct Expectation { bool by_text; std::vector<Output> outputs; };
struct Case { string folder, demand, valid, refusal; std::vector<Expectation> expectations; };
struct Array { string type, shape, bytes; };
struct Did { string status; std::vector<Array> outputs; };  // status: none, answered, or what status.json says

inline string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Array read_npy(const fs::path& path) {
  static const std::map<string, string> types{{"f4", "float"}, {"f8", "double"}, {"f2", "float16"}, {"b1", "bool"}};
  const string raw = read(path);
  std::smatch type, shape;
  const size_t start = raw[6] > 1 ? 12 : 10;
  uint32_t length = 0;
  std::memcpy(&length, raw.data() + 8, start - 8);
  const string header = raw.substr(start, length);
  std::regex_search(header, type, std::regex("'descr': '.(([iu]?).*?)'"));
  if (!std::regex_search(header, shape, std::regex("False, 'shape': \\((.*?),?\\)"))) throw std::runtime_error("columns first");
  const auto known = types.find(type[1]);
  const auto whole = [&] { return (type[2] == "i" ? "int" : "uint") + std::to_string(8 * std::stoi(type[1].str().substr(1))); };
  return {known != types.end() ? known->second : whole(), shape[1] == "" ? "-" : std::regex_replace(shape[1].str(), std::regex(" "), ""), raw.substr(start + length)};
}

template <class T> T at(const string& bytes, size_t place) {
  T value;
  return std::memcpy(&value, bytes.data() + place, sizeof(T)), value;
}

inline size_t width(const string& type) {
  if (type == "float" || type == "double") return type == "float" ? 4 : 8;
  const size_t digit = type.find_first_of("123468");  // int16, uint64, float16; bool has none
  return digit == string::npos ? 1 : std::max<size_t>(1, std::stoul(type.substr(digit)) / 8);
}

inline double number(const string& type, const string& bytes, size_t place) {
  if (type == "float" || type == "double") return type == "float" ? at<float>(bytes, place) : at<double>(bytes, place);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + place, width(type));
  const unsigned unused = 64 - 8 * width(type);
  if (type[0] == 'i') return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
  if (type != "float16") return static_cast<double>(bits);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                                     : exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -size : size;
}

// The rounded distance decides unless it is the allowed one: then the rounding error of the subtraction does.
inline bool is_near(const string& type, const string& got, const string& wanted, size_t place, double allowed) {
  if (type == "int64" || type == "uint64") {
    const auto left = at<uint64_t>(got, place), right = at<uint64_t>(wanted, place);
    const bool more = type == "int64" ? at<int64_t>(got, place) > at<int64_t>(wanted, place) : left > right;
    return allowed >= 18446744073709551616.0 || (more ? left - right : right - left) <= static_cast<uint64_t>(std::floor(allowed));
  }
  const double left = number(type, got, place), right = number(type, wanted, place);
  if (std::isnan(left) || std::isnan(right)) return (std::isnan(left) && std::isnan(right)) || std::isinf(allowed);
  if (left == right || type == "bool") return left == right || std::isinf(allowed);
  const volatile double difference = left - right;
  const double apart = std::fabs(difference);
  if (apart != allowed || std::isinf(apart)) return apart <= allowed;
  const volatile double taken = difference - left, rest = difference - taken;
  const double error = (left - rest) + (-right - taken);
  return !(error != 0 && (error > 0) == (difference > 0));
}

inline bool is_right(const Output& output, const Array& got, const fs::path& goldens) {
  if (got.type != output.type || got.shape != output.shape) return false;
  const string wanted = read(goldens / output.expected), allowed = output.allowed == "-" ? "" : read(goldens / output.allowed);
  const size_t size = width(output.type);
  if (wanted.size() != got.bytes.size()) return false;
  const auto is_nan = [&](const string& bytes) { return std::isnan(number(output.type, bytes, 0)); };
  for (size_t place = 0; place * size < wanted.size(); ++place) {
    const string mine = got.bytes.substr(place * size, size);
    if (!wanted.compare(place * size, size, mine)) continue;
    if (output.allowed != "-" ? is_near(output.type, got.bytes, wanted, place * size, at<double>(allowed, place * 8))
                              : is_nan(mine) && is_nan(wanted.substr(place * size, size))) continue;
    const auto others = output.alternatives.equal_range(place);
    if (std::none_of(others.first, others.second, [&](const auto& other) {
          return other.second == mine || (is_nan(mine) && is_nan(other.second));
        })) return false;
  }
  return true;
}

inline Did look(const fs::path& folder) {
  std::vector<Array> outputs;
  const auto file = [&] { return folder / ("output_" + std::to_string(outputs.size()) + ".npy"); };
  while (fs::exists(file())) outputs.push_back(read_npy(file()));
  if (!fs::exists(folder / "status.json")) return {outputs.empty() ? "none" : "answered", outputs};
  const string text = read(folder / "status.json");
  std::smatch found;
  const string said = std::regex_search(text, found, std::regex("\"status\"\\s*:\\s*\"(\\w+)\"")) ? string(found[1]) : "answered";
  return {said != "answered" && !outputs.empty() ? "contradicts" : said, outputs};
}

inline string judge(const Case& found, const fs::path& goldens, const fs::path& outputs) {
  static const std::map<string, string> ends{{"none", "not_run"}, {"crashed", "crash"}, {"timed_out", "timeout"}};
  const Did did = look(outputs / found.folder);
  if (const auto end = ends.find(did.status); end != ends.end()) return end->second;
  if (did.status != "answered" && did.status != "unsupported" && did.status != "rejected") return "harness_error";
  if (found.demand == "survive") return "observed";
  if (did.status != "answered") {
    if (found.demand == "refuse")
      return found.valid != "-" && look(outputs / found.valid).status == "answered" ? "pass" : "unsupported";
    if (did.status == "unsupported" || found.refusal == "open") return did.status == "unsupported" ? did.status : "observed";
    return found.refusal == "no" ? "rejected_valid" : "document";
  }
  if (found.demand == "refuse") return "accepted_invalid";
  bool right = false;
  for (const Expectation& expectation : found.expectations) {
    bool all = expectation.outputs.size() == did.outputs.size();
    for (size_t place = 0; all && place < did.outputs.size(); ++place) all = is_right(expectation.outputs[place], did.outputs[place], goldens);
    if (all && expectation.by_text) return "pass";
    right = right || all;
  }
  return right ? "document" : "mismatch";
}

inline std::vector<std::pair<string, string>> judge(const fs::path& goldens, const fs::path& outputs) {
  std::vector<Case> cases;
  std::istringstream lines(read(goldens / "goldens.txt"));
  for (string line; std::getline(lines, line);) {
    std::istringstream words(line);
    string kind, a, b, c, d;
    words >> kind;
    if (kind == "case" && words >> a >> b >> c >> d) cases.push_back({a, b, c, d, {}});
    if (kind == "expectation" && words >> a) cases.back().expectations.push_back({a == "text", {}});
    if (kind == "output" && words >> a >> b >> c >> d) cases.back().expectations.back().outputs.push_back({a, b, c, d, {}});
    while (kind == "alternatives" && words >> a) {
      std::istringstream hexes(a.substr(a.find(':') + 1));
      for (string hex, bytes; std::getline(hexes, hex, ','); bytes.clear()) {
        for (size_t at = 0; at < hex.size(); at += 2) bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
        cases.back().expectations.back().outputs.back().alternatives.emplace(std::stoul(a), bytes);
      }
    }
  }
  std::vector<std::pair<string, string>> verdicts;
  for (const Case& found : cases) verdicts.emplace_back(found.folder, judge(found, goldens, outputs));
  return verdicts;
}
}  // namespace opcert
